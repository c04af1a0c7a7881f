"""The flags of compilers that change what C means, as facts of the model."""
