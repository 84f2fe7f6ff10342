"""Tables of others: tidy files, QCEW with disclosure codes, tau-ARGUS hierarchies and tables."""
