import type { Command, Host, Place, RecordedFacts } from '@holdfast/core';

const maxLines = 20;

/** What a call would do, a line each: `reads /project/.env`. */
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
    ...(untrusted ? ['brings text that outsiders write'] : []),
    ...unclear.map(({ reason }) => `unclear: ${reason}`),
  ];
  const more = lines.length > maxLines || cut === true;
  return lines.length === 0
    ? ['nothing is known to be read, written or run']
    : [...lines.slice(0, maxLines), ...(more ? ['…'] : [])];
}

function describeCommand({ program, arguments: words, folder, written, background }: Command): string {
  const line = [program, ...words.map((word) => word ?? '?')].join(' ');
  const notes = [
    ...(folder === undefined ? [] : [`in ${folder}`]),
    ...(written ? ['which this session wrote'] : []),
    ...(background ? ['in the background'] : []),
  ];
  return `runs ${line}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

function describePlace({ path, inside, recursive }: Place): string {
  return `${path}${recursive === undefined ? '' : ' and what lies in it'}${inside ? '' : ' (outside of the workspace)'}`;
}

function describeHost({ scheme, host, port, method, sends }: Host): string {
  const address = `${scheme}://${host}${port === undefined ? '' : `:${port}`}`;
  return `${sends ? 'sends to' : 'reaches'} ${method === undefined ? '' : `${method} `}${address}`;
}
