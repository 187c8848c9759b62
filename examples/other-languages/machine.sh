# Prints one JSON value to standard output; errors go to standard error with a non-zero exit code.
system=$(uname -s) && release=$(uname -r) || { echo "uname cannot tell" >&2; exit 1; }
printf '{"system": "%s", "release": "%s"}\n' "$system" "$release"
