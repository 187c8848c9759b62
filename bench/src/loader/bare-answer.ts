/** As much work as the tool of the benchmark does: next to none. */
export function answer(input: unknown): unknown {
  const { text } = input as { readonly text: string };
  return { text, count: 0, found: [] };
}
