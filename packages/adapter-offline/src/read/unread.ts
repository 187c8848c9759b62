const maxRequestLength = 8000;

/** The reason why a request is not read at all, or `undefined`. */
export function describeUnread(request: string): string | undefined {
  if (request.length > maxRequestLength)
    return `I read requests of at most ${maxRequestLength} characters; this one has ${request.length}.`;
  // Paths are Latin in any language.
  const letters = request.replaceAll(/[\w/-]*[./][\w./-]*/gu, ' ').match(/\p{L}/gu) ?? [];
  const latin = letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length;
  return letters.length > 2 * latin ? 'I read English only, and most of the request is in another script.' : undefined;
}
