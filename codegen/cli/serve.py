"""`tilewright serve`: a page on this machine where C is edited on the left and its result shows on the right."""
from __future__ import annotations

import sys

from codegen.cli.argv import BadCommandLine
from codegen.cli.job import Invocation, Outcome


def run(job: Invocation) -> Outcome:
    """Until it is interrupted."""
    from codegen.serve.server import Server
    from codegen.source_file import load_all

    try:
        server = Server(job.arguments.port, job.arguments.run)
    except (OSError, OverflowError) as error:
        raise BadCommandLine(f"cannot listen on port {job.arguments.port}: {error}") from None
    load_all()  # so that the children have everything
    what = "; C of the page may be compiled and run here (--run)" if job.arguments.run else ""
    sys.stderr.write(f"open {server.address}\nonly this machine can reach it{what}; Ctrl-C ends it\n")
    sys.stderr.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    finally:
        server.server_close()
    return Outcome()
