"""Code for Sunway core groups: master and slave files of the Athread model, and an emulator to run them on."""
