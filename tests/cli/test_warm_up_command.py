"""``bddtorque warm-up``."""

from compiled import arm


def test_a_model_and_a_robot_are_made_ready(run, tmp_path):
    file = tmp_path / "arm.bdt"
    arm(4, workers=1, target="float").save(file)
    ran = run("warm-up", file)
    assert ran == (0, "planar2r is ready: 6 parts of its code compiled or found\n", "")
    ran = run("warm-up", "planar2r", "--bits", "4", "--target", "float")
    assert ran.out == "planar2r is ready: 6 parts of its code compiled or found\n"
    refused = run("warm-up", file, "--bits", "4")
    assert refused.code == 2 and "--bits" in refused.err
