import { delimiter, dirname } from 'node:path';
import { findPython } from './python/find.ts';

/** The Python of this machine. */
export const python: Awaited<ReturnType<typeof findPython>> = await findPython();

/** The `PATH` with its interpreter first. */
export const pythonPath: string = [...(python.available ? [dirname(python.program)] : []), process.env['PATH']].join(
  delimiter,
);

/** A Python tool file whose function is `work`, with `code` above it. */
export function pythonFile(
  name: string,
  {
    def = 'def work(text=None):\n    return 1',
    code = '',
    more = '',
    parameters = '{"type": "object", "properties": {"text": {"type": "string"}}}',
  }: { readonly def?: string; readonly code?: string; readonly more?: string; readonly parameters?: string } = {},
): string {
  return `${code}METADATA = {"name": "${name}", "function": "work", "description": "Works.", "dangerous": False, ${more}
  "parameters": ${parameters.replaceAll('true', 'True').replaceAll('false', 'False').replaceAll('null', 'None')},
}

${def}
`;
}
