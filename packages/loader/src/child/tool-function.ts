import type { ToolMetadata } from '../check/types.ts';

/** The function of a tool file, untyped. */
export type ToolFunction = (input: unknown, context: unknown) => unknown;

/** Finds the tool's function in the imported module; `undefined` if it is not a function. */
export function findToolFunction(
  module: object,
  { form, function: name }: Pick<ToolMetadata, 'form' | 'function'>,
): ToolFunction | undefined {
  const exported: unknown = Reflect.get(module, name);
  if (form === 'metadata') return typeof exported === 'function' ? (exported as ToolFunction) : undefined;
  if (typeof exported !== 'object' || exported === null) return undefined;
  const execute: unknown = Reflect.get(exported, 'execute');
  if (typeof execute !== 'function') return undefined;
  // A method may use `this`.
  return (input, context) => Reflect.apply(execute, exported, [input, context]);
}
