import { HoldfastError, type Json } from '@holdfast/core';
import { checkToolName, isPlainObject } from '@holdfast/core/internal';

/** By tool name, the argument that holds a path. */
export type PathArguments = Readonly<Record<string, string>>;

/** @throws HoldfastError `options.invalid`, `tool.invalid`. */
export function readPathArguments(option: string, byTool: PathArguments): ReadonlyMap<string, string> {
  if (!isPlainObject(byTool)) {
    throw new HoldfastError('options.invalid', `\`${option}\` must be an object of argument names.`);
  }
  const pathArguments = new Map<string, string>(Object.entries(byTool));
  for (const [tool, argument] of pathArguments) {
    checkToolName(tool);
    if (typeof argument !== 'string' || argument === '') {
      throw new HoldfastError('options.invalid', `\`${option}.${tool}\` must name the argument that holds the path.`);
    }
  }
  return pathArguments;
}

/** The paths in an argument; `undefined` if it holds anything else. */
export function pathsOf(input: Json, argument: string): readonly string[] | undefined {
  if (!isPlainObject(input) || !Object.hasOwn(input, argument)) return undefined;
  const value = input[argument];
  if (typeof value === 'string') return [value];
  const isList = Array.isArray(value) && value.every((path): path is string => typeof path === 'string');
  return isList ? value : undefined;
}
