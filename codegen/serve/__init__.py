"""`tilewright serve`: a local web page with C on the left and the result on the right."""
