"""A policy that schedules a loop tree without running it, and an estimate of what a tree is worth.

    network.py   Network: layers with a dueling head or one output, on NumPy alone; `load`, `save`
    policy.py    follow(tree, network) -> the trees of ten greedy steps
    replay.py    Replay: transitions, drawn by how much they surprise
    dqn.py       train(problems, value, settings, say) -> Network; needs PyTorch
    fit.py       fit(samples, settings, say) -> Network that estimates a share of peak; needs PyTorch
    __main__.py  `python -m codegen.tune.learn`: measures, fits, trains, and writes the files that the package ships

Training needs the extra `train`; using what was trained needs NumPy only.
"""
