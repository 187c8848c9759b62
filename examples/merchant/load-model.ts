import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeThrown, type Model } from '@holdfast/core';

/** The default export of a JavaScript or TypeScript file. The program ends with 2 where that is no model. */
export async function loadModel(file: string): Promise<Model> {
  const imported = await import(pathToFileURL(resolve(file)).href).catch((thrown: unknown) =>
    refuse(`\`${file}\` cannot be imported: ${describeThrown(thrown)}`),
  );
  const { default: model } = imported as { readonly default?: Partial<Model> | null };
  if (typeof model?.id === 'string' && typeof model.stream === 'function') return model as Model;
  return refuse(
    `\`${file}\` has no model as its default export: expected an object with \`id\` and \`stream\`, such as \`aiSdkModel(…)\` makes.`,
  );
}

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}
