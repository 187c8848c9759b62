/** The code of an error of the system, such as `ENOENT`; `unknown` for anything else. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown';
}
