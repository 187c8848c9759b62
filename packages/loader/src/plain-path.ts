// No empty name, `.` or `..` between the slashes, no backslash, no drive, nothing that a reader cannot see.
const pattern = /^(?!\/)(?:(?:^|\/)(?!\.{1,2}(?:\/|$))[^/\\:\p{Cc}]+)+$/u;

/** Whether a relative path with `/` means the same file on every machine, in the folder that it starts from. */
export function isPlainPath(path: string): boolean {
  return pattern.test(path);
}
