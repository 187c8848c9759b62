import type { Place } from '@holdfast/core';
import type { Command, Host, RecordedFacts } from '@holdfast/core/types';

const maxLines = 20;

/** The facts of a call, one line each: `reads /project/.env`. */
export function describeFacts({
  runs,
  reads,
  writes,
  deletes,
  hosts,
  untrusted,
  unclear,
  cut,
}: RecordedFacts): readonly string[] {
  const lines = [
    ...runs.map(describeCommand),
    ...reads.map((place) => `reads ${describePlace(place)}`),
    ...writes.map((place) => `writes ${describePlace(place)}`),
    ...deletes.map((place) => `deletes ${describePlace(place)}`),
    ...hosts.map(describeHost),
    ...(untrusted ? ['returns text written by outsiders'] : []),
    ...unclear.map(({ reason }) => `unclear: ${reason}`),
  ];
  const more = lines.length > maxLines || cut === true;
  return lines.length === 0
    ? ['no known reads, writes or commands']
    : [...lines.slice(0, maxLines), ...(more ? ['…'] : [])];
}

function describeCommand({ program, arguments: words, folder, written, background }: Command): string {
  const line = [program, ...words.map((word) => word ?? '?')].join(' ');
  const notes = [
    ...(folder === undefined ? [] : [`in ${folder}`]),
    ...(written ? ['written by this session'] : []),
    ...(background ? ['in the background'] : []),
  ];
  return `runs ${line}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

function describePlace({ path, inside, recursive }: Place): string {
  return `${path}${recursive === undefined ? '' : ' and its contents'}${inside ? '' : ' (outside the workspace)'}`;
}

function describeHost({ scheme, host, port, method, sends }: Host): string {
  const address = `${scheme}://${host}${port === undefined ? '' : `:${port}`}`;
  return `${sends ? 'sends to' : 'reaches'} ${method === undefined ? '' : `${method} `}${address}`;
}
