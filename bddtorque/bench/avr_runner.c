/* Runs an AVR program that calls a function for ever, once for each state, in simavr.
 *
 *     avr_runner ELF CHIP INPUTS OUTPUTS ADDRESS_OF_IN ADDRESS_OF_OUT ADDRESS_OF_MARK < states > results
 *
 * The program writes 1 to the register at ADDRESS_OF_MARK before a call and 2 after it. States are INPUTS bytes; a result is OUTPUTS bytes,
 * then cycles, bytes of stack and instructions of the call, of 32 bits each.
 */
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_INSTRUCTIONS 100000000UL

static int mark;
static avr_cycle_count_t marked;

static void wrote(struct avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter)
{
    (void)parameter;
    avr->data[address] = value;
    mark = value;
    marked = avr->cycle;
}

static unsigned stack_pointer(const avr_t *avr)
{
    return avr->data[R_SPL] | (unsigned)avr->data[R_SPH] << 8;
}

int main(int count, char **given)
{
    elf_firmware_t firmware;
    avr_t *avr;
    FILE *results;
    unsigned char *in, *out;
    size_t inputs, outputs;

    if (count != 8) {
        return 2;
    }
    results = fdopen(dup(1), "wb"); /* what simavr prints itself goes to stderr */
    dup2(2, 1);
    memset(&firmware, 0, sizeof firmware);
    inputs = strtoul(given[3], NULL, 0);
    outputs = strtoul(given[4], NULL, 0);
    in = calloc(inputs, 1);
    out = calloc(outputs, 1);
    avr = avr_make_mcu_by_name(given[2]);
    if (!results || !in || !out || !avr || elf_read_firmware(given[1], &firmware)) {
        fprintf(stderr, "cannot load %s for %s\n", given[1], given[2]);
        return 2;
    }
    firmware.frequency = 16000000;
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    avr_register_io_write(avr, (avr_io_addr_t)strtoul(given[7], NULL, 0), wrote, NULL);
    while (fread(in, 1, inputs, stdin) == inputs) {
        unsigned first, lowest;
        avr_cycle_count_t begun;
        uint32_t told[3] = {0, 0, 0};
        int wanted;

        for (wanted = 1; wanted <= 2; wanted++) {
            unsigned long left = MOST_INSTRUCTIONS;

            mark = 0;
            first = lowest = stack_pointer(avr);
            begun = marked;
            told[2] = 0;
            while (mark != wanted) {
                int state = avr_run(avr);

                told[2]++;
                if (stack_pointer(avr) < lowest) {
                    lowest = stack_pointer(avr);
                }
                if (state == cpu_Crashed || state == cpu_Done || !left--) {
                    fprintf(stderr, "the program crashed or did not end\n");
                    return 3;
                }
            }
            if (wanted == 1) {
                memcpy(avr->data + strtoul(given[5], NULL, 0), in, inputs);
            } else {
                told[0] = (uint32_t)(marked - begun);
                told[1] = first - lowest;
            }
        }
        memcpy(out, avr->data + strtoul(given[6], NULL, 0), outputs);
        fwrite(out, 1, outputs, results);
        fwrite(told, 4, 3, results);
    }
    return fclose(results) ? 4 : 0;
}
