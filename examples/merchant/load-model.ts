import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeThrown, HoldfastError, type Model } from '@holdfast/core';

/**
 * The default export of a JavaScript or TypeScript file, which has to be a model.
 *
 * @throws HoldfastError `example.model` when the file cannot be imported, or exports none.
 */
export async function loadModel(file: string): Promise<Model> {
  const imported = await import(pathToFileURL(resolve(file)).href).catch((cause: unknown) => {
    throw new HoldfastError('example.model', `\`${file}\` cannot be imported: ${describeThrown(cause)}`, { cause });
  });
  const { default: model } = imported as { readonly default?: Partial<Model> | null };
  if (typeof model?.id !== 'string' || typeof model.stream !== 'function') {
    const message = `\`${file}\` has no model as its default export: expected an object with \`id\` and \`stream\`, such as \`aiSdkModel(…)\` makes.`;
    throw new HoldfastError('example.model', message);
  }
  return model as Model;
}
