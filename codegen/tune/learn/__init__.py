"""A policy that schedules a loop tree without running it, and an estimate of what a tree is worth.

    network.py   Network: layers with a dueling head or one output, on NumPy alone; `load`, `save`
    policy.py    follow(tree, network) -> the trees of ten greedy steps; ahead(...) -> those on several ways
    answer.py    answers(tree, model) -> what all of it would do, best first; nothing is run
    replay.py    Replay: transitions, drawn by how much they surprise
    dqn.py       train(problems, value, settings, say) -> Network; needs PyTorch
    estimate.py  estimate(network, isa) -> shares of peak by the traits of trees (traits.py), without running them
    demos.py     ways to register tiles, which training begins with
    samples.py   trees that are worth measuring
    __main__.py  `python -m codegen.tune.learn`: measures, fits, trains, and writes the files that the package ships

Training needs the extra `train`; using what was trained needs NumPy only.
"""
