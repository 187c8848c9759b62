import type { ToolMetadata } from '../check/types.ts';

/** The function of a tool file, as far as anything is known of it. */
export type ToolFunction = (input: unknown, context: unknown) => unknown;

/** The function that does a tool's work, in the imported file; `undefined` when something else stands in its place. */
export function findToolFunction(
  module: object,
  { form, function: name }: Pick<ToolMetadata, 'form' | 'function'>,
): ToolFunction | undefined {
  const exported: unknown = Reflect.get(module, name);
  if (form === 'metadata') return typeof exported === 'function' ? (exported as ToolFunction) : undefined;
  if (typeof exported !== 'object' || exported === null) return undefined;
  const execute: unknown = Reflect.get(exported, 'execute');
  if (typeof execute !== 'function') return undefined;
  // A method may ask for its tool by `this`.
  return (input, context) => Reflect.apply(execute, exported, [input, context]);
}
