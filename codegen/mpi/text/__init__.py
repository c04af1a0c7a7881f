"""Prints what ranks run and send: views of phases and messages, and the text of a region."""
