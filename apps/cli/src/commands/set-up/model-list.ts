import { type NamedModel, namedModels } from '../../models/catalogue.ts';
import { listPulledModels, measurePart, modelsFolder, type PulledModel, toModelPath } from '../../models/pulled.ts';
import { describeStyle } from '../../run/work.ts';
import { formatBytes } from '../../terminal/bytes.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { formatTable } from '../../terminal/table.ts';
import { toPrintable } from '../../terminal/text.ts';

interface ListedModel {
  readonly name: string;
  /** null: of a file that was pulled by its address. */
  readonly parameters: string | null;
  readonly bytes: number;
  readonly license: string | null;
  readonly state: 'pulled' | 'part' | 'absent';
  /** How much of it is there. */
  readonly bytesHere: number;
  /** Where it is, or would be. */
  readonly path: string;
  readonly url: string | null;
}

/** Prints the models that can be pulled by name, and those that were pulled by an address. */
export async function listModels(
  { json }: { readonly json: boolean },
  host: Host,
  models: readonly NamedModel[] = namedModels,
): Promise<ExitCode> {
  const folder = modelsFolder(host.environment, { directory: host.directory });
  const pulled = await listPulledModels(folder);
  const listed = [
    ...(await Promise.all(models.map((model) => describeNamed(model, pulled, folder)))),
    ...pulled.filter(({ name }) => models.every((model) => model.name !== name)).map(describeOther),
  ];
  if (json) {
    host.stdout.write(`${toJsonText({ folder, models: listed }, 2)}\n`);
    return 0;
  }
  const style = describeStyle(host);
  const head = [
    { title: 'model', paint: style.colors.bold },
    { title: 'parameters' },
    { title: 'size' },
    { title: 'licence' },
    { title: 'state' },
  ];
  const rows = listed.map((model) => {
    return [
      model.name,
      model.parameters ?? '',
      formatBytes(model.bytes),
      model.license ?? '',
      describeState(model, host.command),
    ];
  });
  const lines = [...formatTable(head, rows, style), '', `Pulled models are in ${toPrintable(folder)}`];
  host.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

function describeState({ name, state, bytes, bytesHere }: ListedModel, command: string): string {
  switch (state) {
    case 'pulled':
      return `pulled: --model local:${name}`;
    case 'part':
      return `${Math.floor((bytesHere / bytes) * 100)} % pulled: \`${command} model pull ${name}\` goes on`;
    case 'absent':
      return '';
    default:
      return state satisfies never;
  }
}

async function describeNamed(
  { name, parameters, bytes, license, url }: NamedModel,
  pulled: readonly PulledModel[],
  folder: string,
): Promise<ListedModel> {
  const path = toModelPath(name, folder);
  const model = { name, parameters, bytes, license, path, url };
  const there = pulled.find((other) => other.name === name);
  // Another file under its name, pulled by an address.
  if (there !== undefined && there.bytes !== bytes) return describeOther(there);
  if (there !== undefined) return { ...model, state: 'pulled', bytesHere: bytes };
  const bytesHere = await measurePart(name, folder);
  return bytesHere === undefined
    ? { ...model, state: 'absent', bytesHere: 0 }
    : { ...model, state: 'part', bytesHere: Math.min(bytesHere, bytes) };
}

function describeOther({ name, path, bytes }: PulledModel): ListedModel {
  return { name, parameters: null, bytes, license: null, state: 'pulled', bytesHere: bytes, path, url: null };
}
