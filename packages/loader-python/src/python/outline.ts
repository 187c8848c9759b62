import type { Json } from '@holdfast/core';
import { parseJson } from '@holdfast/core';

/** What a Python function takes. */
export interface PythonSignature {
  /** In order, without `*args` and `**kwargs`. */
  readonly parameters: readonly {
    readonly name: string;
    readonly kind: 'position' | 'either' | 'name';
    readonly hasDefault: boolean;
  }[];
  /** Whether it has `**kwargs`. */
  readonly takesMore: boolean;
}

/** A place as Python counts: lines from 1, columns in bytes of UTF-8 from 0. */
export interface PythonPlace {
  readonly line: number;
  readonly column: number;
}

export interface PythonFunction extends PythonPlace, PythonSignature {
  readonly generator: boolean;
  /** Whether it has `*args`. */
  readonly takesRest: boolean;
  readonly documentation: string | null;
}

/** `import module`, or `from module import names`, which may be modules, too; `level`: how many dots. */
export interface PythonImport extends PythonPlace {
  readonly level: number;
  readonly module: string;
  readonly names: readonly string[];
}

/** What a Python file has at its top level, and imports anywhere. */
export interface PythonFile {
  readonly type: 'outlined';
  readonly metadata:
    | (PythonPlace & {
        readonly value: Json;
        /** Of the members. */
        readonly places: readonly (readonly [path: readonly string[], line: number, column: number])[];
      })
    | null;
  /** Why `METADATA` cannot be read. */
  readonly refusal: (PythonPlace & { readonly found: string; readonly hint: string }) | null;
  readonly functions: ReadonlyMap<string, PythonFunction>;
  /** Other names that have a value, and what they are. */
  readonly others: ReadonlyMap<string, PythonPlace & { readonly what: string }>;
  readonly imports: readonly PythonImport[];
  /** Where it asks for its own path. */
  readonly ownPlace: PythonPlace | null;
}

export type PythonOutline =
  | PythonFile
  | (PythonPlace & { readonly type: 'syntax'; readonly message: string })
  | { readonly type: 'encoding'; readonly encoding: string }
  /** Nested too deeply, or it takes too long. */
  | { readonly type: 'complex' };

/** Reads what our program in Python has written of a file. */
export function readPythonOutline(line: string): PythonOutline {
  // As deep as metadata may be, within the rest; a number without an end is none.
  const parsed = parseJson(line, { maxDepth: 80 });
  if (!parsed.ok) return { type: 'complex' };
  // Written by our own program, which has read the file and run nothing of it.
  const answer = parsed.value as unknown as PythonOutline & { readonly functions: object; readonly others: object };
  if (answer.type !== 'outlined') return answer;
  return {
    ...answer,
    functions: new Map(Object.entries(answer.functions)),
    others: new Map(Object.entries(answer.others)),
  };
}

/** The offset in the source of a place in it. */
export function toOffset(source: string, { line, column }: PythonPlace): number {
  const breaks = /\r\n|\r|\n/g;
  for (let before = 1; before < line; before += 1) if (breaks.exec(source) === null) return source.length;
  const start = line === 1 ? 0 : breaks.lastIndex;
  const text = /^[^\r\n]*/.exec(source.slice(start))?.[0] ?? '';
  return start + Buffer.from(text).subarray(0, column).toString('utf8').length;
}
