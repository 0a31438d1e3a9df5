"""Whole sessions at the command line, compared with the recorded ones: each line of stdout (1>), stderr (2>), and exit codes (=).

``VAULTBRAIN_WRITE_GOLDEN=1`` records them anew; look at the difference before committing it. A line with ``!`` is something that
happens meanwhile; paths, ports and times are made the same for everybody.
"""
