"""What a command writes: artefacts, reports, progress, failures."""
