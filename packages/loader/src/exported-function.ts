import type { Comment, Expression } from 'oxc-parser';
import { unwrapExpression } from './literal.ts';
import type { FunctionLike, ModuleOutline } from './module-outline.ts';

export type ExportedFunction =
  | {
      readonly type: 'function';
      readonly offset: number;
      /** Whether it declares a parameter. */
      readonly takesInput: boolean;
      /** The doc comment above it without stars and tags. */
      readonly documentation: string | undefined;
    }
  | { readonly type: 'not-exported'; readonly exported: readonly string[] }
  | { readonly type: 'not-function'; readonly offset: number; readonly found: string };

/** Finds what a module exports as `name`, if it can be seen to be a function without running anything. */
export function findExportedFunction(
  name: string,
  { bindings, exports }: ModuleOutline,
  { source, comments }: { readonly source: string; readonly comments: readonly Comment[] },
): ExportedFunction {
  const exported = exports.get(name);
  if (exported === undefined) {
    const functions = [...exports].filter(([, { local }]) => bindings.get(local ?? '')?.type === 'function');
    return { type: 'not-exported', exported: functions.map(([exportedName]) => exportedName) };
  }
  if (exported.local === undefined) {
    return { type: 'not-function', offset: exported.offset, found: 'exported from another file' };
  }
  const binding = bindings.get(exported.local);
  if (binding === undefined) return { type: 'not-function', offset: exported.offset, found: 'something else' };
  if (binding.type === 'other') return { type: 'not-function', offset: binding.offset, found: binding.what };
  const value = binding.type === 'function' ? binding.value : asFunction(binding.value);
  if (value === undefined) return { type: 'not-function', offset: binding.offset, found: 'another kind of value' };
  if (value.type !== 'ArrowFunctionExpression' && value.generator) {
    return { type: 'not-function', offset: binding.offset, found: 'a generator, whose result is no JSON' };
  }
  return {
    type: 'function',
    offset: binding.offset,
    takesInput: value.params.some((parameter) => parameter.type !== 'Identifier' || parameter.name !== 'this'),
    documentation: findDocumentation(source, comments, binding.statement),
  };
}

function asFunction(outer: Expression): FunctionLike | undefined {
  const node = unwrapExpression(outer);
  return node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression' ? node : undefined;
}

function findDocumentation(source: string, comments: readonly Comment[], offset: number): string | undefined {
  const comment = comments.findLast(({ end }) => end <= offset);
  if (comment?.type !== 'Block' || !comment.value.startsWith('*')) return undefined;
  if (source.slice(comment.end, offset).trim() !== '') return undefined;
  const lines = comment.value
    .slice(1)
    .split(/\r\n|\r|\n/)
    .map((line) => line.replace(/^\s*\*? ?/, '').trim());
  const firstTag = lines.findIndex((line) => line.startsWith('@'));
  const text = lines
    .slice(0, firstTag < 0 ? lines.length : firstTag)
    .join(' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  return text === '' ? undefined : text;
}
