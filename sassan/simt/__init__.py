"""The concrete SIMT machine: warp-cfg.md section 1 executed by 32 real threads, many runs at once."""
