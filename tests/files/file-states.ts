/** The folder of `file-writer.ts` after `calls` calls: content by path, `null` for a folder. */
export function expectedFiles(calls: number): Readonly<Record<string, string | null>> {
  if (calls === 0) return {};
  const call = calls - 1;
  const text = `${call}`;
  return {
    'same.txt': text,
    'large.txt': largeText(call),
    new: null,
    [`new/${call}`]: null,
    [`new/${call}/deep`]: null,
    [`new/${call}/deep/a.txt`]: text,
    ...(call % 2 === 0 ? { swapped: text } : { swapped: null, 'swapped/inner.txt': text }),
  };
}

/** Many blocks long, with a different length each time. */
export function largeText(call: number): string {
  return `${call} `.repeat(20_000 + (call % 7) * 1_000);
}
