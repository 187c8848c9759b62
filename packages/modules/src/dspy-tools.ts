/**
 * The tools that an instruction of a ReAct lists, in order; `undefined` when there is no list in the form in which DSPy writes it, which an
 * optimiser may have rewritten.
 *
 * Source: DSPy `dspy/predict/react.py` (numbered lines, the last of them `finish`) and `dspy/adapters/types/tool.py` (what stands after
 * the name: `, whose description is <desc>` or, without one, `. It takes arguments`).
 */
export function readListedTools(instruction: string): readonly string[] | undefined {
  const names = instruction.split('\n').flatMap((line) => readListedTool(line) ?? []);
  return names.length === 0 ? undefined : names;
}

const number = /^\s*\(\d{1,4}\) /;
const afterName = [', whose description is <desc>', '. It takes arguments'];

function readListedTool(line: string): string | undefined {
  const [start] = number.exec(line) ?? [];
  if (start === undefined) return undefined;
  const ends = afterName.map((text) => line.indexOf(text)).filter((at) => at > start.length);
  return ends.length === 0 ? undefined : line.slice(start.length, Math.min(...ends));
}
