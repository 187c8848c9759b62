import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Model } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';

/** The argument of `--model`. Exits with 2 for any other arguments. */
export function readModelOption(): string | undefined {
  try {
    return parseArgs({ options: { model: { type: 'string' } } }).values.model;
  } catch (thrown) {
    return refuse(`${describeThrown(thrown)}. This example takes \`--model FILE\`, and nothing else.`);
  }
}

/** The default export of a JavaScript or TypeScript file. Exits with 2 if that is not a model. */
export async function loadModel(file: string): Promise<Model> {
  const imported = await import(pathToFileURL(resolve(file)).href).catch((thrown: unknown) =>
    refuse(`\`${file}\` cannot be imported: ${describeThrown(thrown)}`),
  );
  const { default: model } = imported as { readonly default?: Partial<Model> | null };
  if (typeof model?.id === 'string' && typeof model.stream === 'function') return model as Model;
  return refuse(
    `\`${file}\` has no model as its default export: expected an object with \`id\` and \`stream\`, such as \`aiSdkModel(…)\` returns.`,
  );
}

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}
