"""The directives of plan text, by what they act on."""
