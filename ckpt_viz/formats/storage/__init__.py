"""Files, checksums and containers: what all formats are stored in.

`files` opens and lists files, inside what `confinement` allows; `file_systems` asks fsspec, and
says what errors mean. `new_files` creates all files or none. `sstable`, `zip_archive` and `wire`
read containers; `unpacking` bounds what they unpack.
"""
