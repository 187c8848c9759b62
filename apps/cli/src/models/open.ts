import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HoldfastError, type Model } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { PluginModel } from '@holdfast/core/types';
import type { ScriptedModel } from '@holdfast/testing';
import { usageError } from '../terminal/failure.ts';
import { openLocalModel } from './local.ts';
import type { ProviderSurroundings } from './providers.ts';

const scriptPrefix = 'script:';

export interface ModelSurroundings extends ProviderSurroundings {
  /** Models of plugins, by `<plugin>/<model>`. */
  readonly models: ReadonlyMap<string, PluginModel>;
}

/** A model, with resources that it may hold until it is disposed. */
export interface OpenedModel extends AsyncDisposable {
  readonly model: Model;
  /** A one-line notice for the user. */
  readonly about?: string | undefined;
}

/**
 * Opens the model `name`: `offline`, `local`, `local:<file or pulled model>`, `script:<file>`, `<provider>:<model>` or
 * `<plugin>/<model>`. Files are relative to the directory. The caller disposes the model.
 *
 * @throws HoldfastError `usage.invalid` (`model_unknown`, `script_unreadable`), `script.invalid`; for
 * providers `usage.invalid` (`provider_missing`, `provider_unusable`, `key_missing`, `base_url_missing`); `plugin.failed`;
 * and as `openLocalModel`.
 */
export async function openModel(name: string, surroundings: ModelSurroundings): Promise<OpenedModel> {
  const local = await openLocalModel(name, surroundings);
  if (local !== undefined) return { model: local.model, about: local.about, [Symbol.asyncDispose]: local.close };
  return { model: await openOtherModel(name, surroundings), [Symbol.asyncDispose]: async () => undefined };
}

async function openOtherModel(name: string, surroundings: ModelSurroundings): Promise<Model> {
  // Loads only the code of the chosen kind.
  if (name === 'offline') return (await import('@holdfast/adapter-offline')).offlineModel();
  if (name.startsWith(scriptPrefix) && name !== scriptPrefix) {
    const { parseScript, scriptedModel } = await import('@holdfast/testing');
    const path = name.slice(scriptPrefix.length);
    return playFromPlace(
      scriptedModel(parseScript(await readScript(path, surroundings.directory), path), { id: name }),
    );
  }
  const { openProviderModel } = await import('./providers.ts');
  const model = await openProviderModel(name, surroundings);
  if (model !== undefined) return model;
  const { models } = surroundings;
  const own = models.get(name);
  if (own !== undefined) return await createModel(name, own);
  const others = [...models.keys()].map((known) => `\`${known}\``);
  throw usageError(
    'model_unknown',
    `Unknown model \`${name}\`. Use \`offline\`, \`local\`, \`local:<file>\`, \`script:<file>\` or \`<provider>:<model>\`, such as \`openai:gpt-5\`.${others.length === 0 ? '' : ` Models of plugins: ${others.join(', ')}.`}`,
  );
}

async function createModel(name: string, model: PluginModel): Promise<Model> {
  try {
    return await model.create();
  } catch (cause) {
    throw new HoldfastError('plugin.failed', `Cannot create model \`${name}\`: ${describeThrown(cause)}`, {
      data: { reason: 'model', model: name },
      cause,
    });
  }
}

/** Skips messages that were already played: a resumed run continues its script in another process. */
function playFromPlace(model: ScriptedModel): Model {
  return {
    id: model.id,
    stream(request) {
      const said = request.messages.filter(({ role }) => role === 'assistant').length;
      while (model.requests.length < said) model.stream(request);
      return model.stream(request);
    },
  };
}

async function readScript(path: string, directory: string): Promise<string> {
  try {
    return await readFile(resolve(directory, path), 'utf8');
  } catch (cause) {
    throw usageError('script_unreadable', `Cannot read script \`${path}\`: ${describeThrown(cause)}`);
  }
}
