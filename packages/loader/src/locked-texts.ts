const hashPattern = /^[\da-f]{64}$/;
const packagePattern = /^(?:@[\w.~-]+\/)?(?![._])[\w.~-]+$/;

/** Whether a text is a SHA-256 in hexadecimal, as a lock has it. */
export function isHash(text: string): boolean {
  return hashPattern.test(text);
}

/** Whether a text is the name of a package, as a lock has it. */
export function isPackageName(text: string): boolean {
  return packagePattern.test(text);
}
