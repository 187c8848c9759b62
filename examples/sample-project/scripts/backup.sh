#!/bin/sh
# Copies the data folder to a dated archive.
# TODO: delete archives that are older than a year
set -eu
tar -czf "backup-$(date +%F).tar.gz" data config
