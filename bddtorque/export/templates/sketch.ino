/* Computes the words of one state, again and again, and prints them with the time that a call took. */
#include <@prefix@.h>

@declared@

void setup()
{
    Serial.begin(115200);
}

void loop()
{
    const unsigned long begun = micros();
    const int outside = @function@(@given@);
    const unsigned long taken = micros() - begun;

    for (unsigned k = 0; k < sizeof @result@ / sizeof @result@[0]; k++) {
        Serial.print(@result@[k]);
        Serial.print(' ');
    }
    Serial.print(outside);
    Serial.print(" out of range, ");
    Serial.print(taken);
    Serial.println(" us");
    delay(1000);
}
