/** Characters of a request that are read. */
export const maxRequestLength = 8000;

/** What of a request was not read, and why; a sentence each. */
export function describeUnread(request: string): readonly string[] {
  // A path is Latin in any language.
  const words = request.slice(0, maxRequestLength).replaceAll(/[\w/-]*[./][\w./-]*/gu, ' ');
  const letters = words.match(/\p{L}/gu) ?? [];
  const latin = letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length;
  return [
    ...(letters.length > 2 * latin ? ['I read English only, and most of the request is in another script.'] : []),
    ...(request.length > maxRequestLength
      ? [`I read the first ${maxRequestLength} characters of the request; it has ${request.length}.`]
      : []),
  ];
}
