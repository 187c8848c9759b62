const maxRequestLength = 8000;

/** Why a request is not read at all; `undefined` when it is. */
export function describeUnread(request: string): string | undefined {
  if (request.length > maxRequestLength)
    return `I read requests of at most ${maxRequestLength} characters, and this one has ${request.length}.`;
  // A path is Latin in any language.
  const letters = request.replaceAll(/[\w/-]*[./][\w./-]*/gu, ' ').match(/\p{L}/gu) ?? [];
  const latin = letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length;
  return letters.length > 2 * latin ? 'I read English only, and most of the request is in another script.' : undefined;
}
