import type { Json } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';

/** The parameters of a Python function. */
export interface PythonSignature {
  /** In order, without `*args` and `**kwargs`. */
  readonly parameters: readonly {
    readonly name: string;
    readonly kind: 'position' | 'either' | 'name';
    readonly hasDefault: boolean;
  }[];
  /** True if it has `**kwargs`. */
  readonly takesMore: boolean;
}

/** A position as in Python: lines from 1, columns in UTF-8 bytes from 0. */
export interface PythonPlace {
  readonly line: number;
  readonly column: number;
}

export interface PythonFunction extends PythonPlace, PythonSignature {
  readonly generator: boolean;
  /** True if it has `*args`. */
  readonly takesRest: boolean;
  readonly documentation: string | null;
}

/** `import module`, or `from module import names`, where a name may be a module; `level`: the number of dots. */
export interface PythonImport extends PythonPlace {
  readonly level: number;
  readonly module: string;
  readonly names: readonly string[];
}

/** The top level of a Python file, and its imports at any level. */
export interface PythonFile {
  readonly type: 'outlined';
  readonly metadata:
    | (PythonPlace & {
        readonly value: Json;
        /** Positions of the members. */
        readonly places: readonly (readonly [path: readonly string[], line: number, column: number])[];
      })
    | null;
  /** Why `METADATA` cannot be read. */
  readonly refusal: (PythonPlace & { readonly found: string; readonly hint: string }) | null;
  readonly functions: ReadonlyMap<string, PythonFunction>;
  /** Other names with a value, and their kinds. */
  readonly others: ReadonlyMap<string, PythonPlace & { readonly what: string }>;
  readonly imports: readonly PythonImport[];
  /** Position of the first `__file__`. */
  readonly ownPlace: PythonPlace | null;
}

export type PythonOutline =
  | PythonFile
  | (PythonPlace & { readonly type: 'syntax'; readonly message: string })
  | { readonly type: 'encoding'; readonly encoding: string }
  /** Nested too deeply, or takes too long. */
  | { readonly type: 'complex' };

/** Parses the output of `pythonOutlineProgram` for a file. */
export function readPythonOutline(line: string): PythonOutline {
  // The maximum depth of metadata, plus its nesting in the outline.
  const parsed = parseJson(line, { maxDepth: 80 });
  if (!parsed.ok) return { type: 'complex' };
  // Written by our own program, which reads the file without running it.
  const answer = parsed.value as unknown as PythonOutline & { readonly functions: object; readonly others: object };
  if (answer.type !== 'outlined') return answer;
  return {
    ...answer,
    functions: new Map(Object.entries(answer.functions)),
    others: new Map(Object.entries(answer.others)),
  };
}

/** The offset of a position in the source. */
export function toOffset(source: string, { line, column }: PythonPlace): number {
  const breaks = /\r\n|\r|\n/g;
  for (let before = 1; before < line; before += 1) if (breaks.exec(source) === null) return source.length;
  const start = line === 1 ? 0 : breaks.lastIndex;
  const text = /^[^\r\n]*/.exec(source.slice(start))?.[0] ?? '';
  return start + Buffer.from(text).subarray(0, column).toString('utf8').length;
}
