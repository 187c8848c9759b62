import { type Field, known, show } from '../script/field.ts';
import type { Call, Handler, Result, Runner } from '../script/types.ts';
import { readArguments, readRoles } from './arguments.ts';
import { applyRole } from './roles.ts';
import { runProject } from './run-file.ts';

const runOptions = readRoles(
  'v:text volume:text mount:text env-file:read e:text env:text name:text p:text publish:text w:text workdir:text u:text user:text network:text net:text entrypoint:text l:text label:text ' +
    'label-file:read cidfile:write m:text memory:text cpus:text h:text hostname:text platform:text pull:text add-host:text dns:text cap-add:text device:text security-opt:text pid:text ipc:text ' +
    'restart:text gpus:text shm-size:text ulimit:text tmpfs:text volumes-from:text log-driver:text stop-signal:text userns:text',
);
const buildOptions = readRoles(
  'f:read file:read t:text tag:text build-arg:text target:text platform:text o:write output:write secret:text ssh:text iidfile:write cache-from:text cache-to:text progress:text metadata-file:write label:text build-context:read network:text',
);
const composeOptions = readRoles(
  'f:load file:load env-file:read project-directory:folder p:text project-name:text profile:text ansi:text progress:text',
);

function runDocker(call: Call, runner: Runner): Result | undefined {
  const head = readArguments(
    call.words,
    readRoles('H:host host:host config:read context:text c:text l:text tlscacert:read tlscert:read tlskey:read'),
    { stops: true },
  );
  for (const { role, value, name } of head.options)
    if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
  const [first, ...rest] = call.words.slice(head.rest);
  if (first === undefined) return undefined;
  const isGroup = first.known && /^(?:container|image|builder|buildx)$/.test(first.text);
  const command = isGroup ? rest[0] : first;
  const words = isGroup ? rest.slice(1) : rest;
  const inner: Call = { ...call, words };
  if (command === undefined) return undefined;
  if (!command.known || head.unsure) {
    runner.unclear('program', 'cannot tell which subcommand of `docker` runs');
    return undefined;
  }
  switch (command.text) {
    case 'compose':
      return runCompose(inner, runner);
    case 'run':
    case 'create':
      return runImage(inner, runner);
    case 'exec':
      runner.unclear('code', 'code in a container is not analyzed');
      return undefined;
    case 'build':
    case 'b':
      return buildImage(inner, runner);
    case 'cp': {
      const [from, to] = readArguments(words, readRoles('')).operands;
      const isInside = (field: Field | undefined): boolean => /^[\w.-]+:/.test(field?.text ?? '');
      if (from !== undefined && !isInside(from))
        applyRole('read', from, { call: inner, runner, recursion: { skips: [] }, name: '' });
      if (to !== undefined && !isInside(to))
        applyRole('write', to, { call: inner, runner, recursion: { skips: [] }, name: '' });
      return undefined;
    }
    case 'push':
    case 'login':
      runner.facts.host({ scheme: 'docker', host: imageHost(words), sends: true });
      return undefined;
    case 'pull':
      runner.facts.host({ scheme: 'docker', host: imageHost(words), sends: false });
      return undefined;
    default:
      if (
        !/^(?:ps|images|ls|logs|inspect|info|version|stats|top|port|diff|history|search|tag|start|stop|restart|wait|pause|unpause|kill|rm|rmi|volume|network|system|context|imagetools|bake|inspect|use|install|save|load|commit|events|rename|update|attach)$/.test(
          command.text,
        )
      ) {
        runner.unclear('program', `unknown command \`docker ${show(command.text)}\``);
      }
      return undefined;
  }
}

function imageHost(words: readonly Field[]): string {
  const image = words.find(({ text }) => !text.startsWith('-'))?.text ?? '';
  return /^([^/]*[.:][^/]*)\//.exec(image)?.[1]?.toLowerCase() ?? 'registry-1.docker.io';
}

function runImage(call: Call, runner: Runner): undefined {
  const given = readArguments(call.words, runOptions, { stops: true });
  for (const { role, value, name } of given.options) {
    if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
    if (/^(?:v|volume|mount)$/.test(name) && value !== undefined) mount(value, { call, runner });
    if (/^(?:privileged|cap-add|device|pid|security-opt|userns)$/.test(name))
      runner.unclear('code', `\`docker run --${name}\` may leave the container`);
  }
  if (given.unsure) runner.unclear('words', 'cannot tell which options `docker` gets');
  const [image] = call.words.slice(given.rest);
  runner.facts.host({ scheme: 'docker', host: imageHost(image === undefined ? [] : [image]), sends: false });
  runner.unclear('program', `\`docker\` runs the image \`${show(image?.text ?? '')}\``);
}

function mount(value: Field, { call, runner }: { readonly call: Call; readonly runner: Runner }): void {
  const source = /(?:^|,)(?:source|src)=([^,]*)/.exec(value.text)?.[1] ?? value.text.split(':')[0] ?? '';
  if (value.known && !/[/.]/.test(source)) return;
  const field = { ...value, text: source };
  applyRole('read', field, { call, runner, recursion: { skips: [] }, name: '' });
  if (!/:ro\b|readonly/.test(value.text))
    applyRole('write', field, { call, runner, recursion: { skips: [] }, name: '' });
}

function buildImage(call: Call, runner: Runner): undefined {
  const given = readArguments(call.words, buildOptions);
  for (const { role, value, name } of given.options) {
    if (value === undefined) continue;
    const [, secret] = /(?:^|,)(?:src|source)=([^,]*)/.exec(value.text) ?? [];
    if (name === 'secret' && secret !== undefined)
      applyRole('read', { ...value, text: secret }, { call, runner, recursion: undefined, name });
    else applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  if (given.unsure) runner.unclear('words', 'cannot tell which options `docker` gets');
  for (const field of given.operands) {
    if (field.text !== '-' && !/^(?:https?|git):/.test(field.text)) {
      applyRole('read', field, { call, runner, recursion: { skips: [], ...ignored(call, runner) }, name: '' });
    }
  }
  runProject('the Dockerfile', call, runner);
  return undefined;
}

/** Plain names of `.dockerignore`; other patterns exclude nothing. */
function ignored({ state }: Call, { facts }: Runner): { readonly except?: readonly string[] } {
  const text =
    state.folders?.length === 1 ? facts.view.disk?.readText(`${state.folders[0]}/.dockerignore`, 100_000) : undefined;
  if (text === undefined || text.includes('!')) return {};
  const lines = text.split('\n').map((line) => line.trim().replace(/^\/|\/$/g, ''));
  const names = lines.map((line) => line.replace(/^\*\*\//, '')).filter((line) => /^[^#/\s][^/\s]*$/.test(line));
  return names.length === 0 ? {} : { except: names };
}

function runCompose(call: Call, runner: Runner): undefined {
  const given = readArguments(call.words, composeOptions, { stops: true });
  for (const { role, value, name } of given.options)
    if (value !== undefined && role !== 'folder') applyRole(role, value, { call, runner, recursion: undefined, name });
  const [command] = call.words.slice(given.rest);
  runProject('the services', call, runner);
  // It prints the file with the values of `.env` filled in.
  if (command?.known !== true || command.text === 'config' || command.text === 'convert')
    runner.facts.use('reads', known('.env'), call.state.folders);
  if (command?.text === 'exec' || command?.text === 'run')
    runner.unclear('code', 'code in a container is not analyzed');
}

const tarOptions = readRoles(
  'f:text file:text C:folder directory:folder T:list files-from:list X:read exclude-from:read exclude:except I:run use-compress-program:run checkpoint:text checkpoint-action:code to-command:run ' +
    'rsh-command:run F:run info-script:run new-volume-script:run rmt-command:run transform:text s:text strip-components:text b:text K:text H:text format:text owner:text group:text mode:text mtime:text ' +
    'dereference:flag absolute-names:flag to-stdout:flag create:flag append:flag extract:flag N:text newer:text g:read listed-incremental:read index-file:write add-file:read warning:text',
);

function runTar(call: Call, runner: Runner): undefined {
  const [first, ...others] = call.words;
  // Without a dash, the first word is a list of option letters; their values follow in order.
  const isOld = first?.known === true && /^[^-]/.test(first.text);
  const words = isOld ? expandLetters(first.text, others) : call.words;
  const given = readArguments(words, tarOptions);
  const has = (names: string): boolean => given.options.some(({ name }) => names.split(' ').includes(name));
  const creates = has('c create r append u update A');
  const extracts = has('x extract get');
  const archive = given.options.find(({ name }) => name === 'f' || name === 'file')?.value;
  // Operands belong to the folders before them; here each counts for every folder. A folder begins at the one before.
  const folders = [known('.')];
  for (const { role, value } of given.options)
    if (role === 'folder' && value !== undefined) folders.push(below(folders.at(-1), value));
  const except = given.options.flatMap(({ role, value }) =>
    role === 'except' && value?.known === true ? [value.text] : [],
  );
  for (const { role, value, name } of given.options) {
    if (role === 'code' || (role === 'run' && value === undefined))
      runner.unclear('code', `\`tar --${name}\` may run a program`);
    else if (value !== undefined && role !== 'folder')
      applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  if (given.unsure || first?.known === false) runner.unclear('words', 'cannot tell which options `tar` gets');
  if (archive !== undefined && archive.text !== '-')
    applyRole(creates ? 'write' : 'read', archive, { call, runner, recursion: undefined, name: 'f' });
  for (const folder of folders) {
    const follows = has('h dereference') ? { follows: 'all' as const } : {};
    const recursion = { skips: [], ...follows, ...(except.length === 0 ? {} : { except }) };
    if (creates) {
      for (const field of given.operands)
        applyRole('read', below(folder, field), { call, runner, recursion, name: '' });
    } else if (extracts && !has('O to-stdout') && (folder.text !== '.' || folders.length === 1)) {
      applyRole('write', folder, { call, runner, recursion: { skips: [] }, name: '' });
      if (has('P absolute-names')) runner.unclear('words', 'cannot tell which files `tar -P` writes');
    }
  }
}

function below(folder: Field | undefined, field: Field): Field {
  if (folder === undefined || folder.text === '.' || field.text.startsWith('/')) return field;
  if (folder.known) return { ...field, text: `${folder.text}/${field.text}` };
  return { ...folder, ends: field.known ? `/${field.text}` : (field.ends ?? '') };
}

function expandLetters(letters: string, words: readonly Field[]): readonly Field[] {
  const rest = [...words];
  const made: Field[] = [];
  for (const letter of letters.replaceAll('-', '')) {
    made.push(known(`-${letter}`));
    const role = tarOptions.get(letter);
    const value = role === undefined || role === 'flag' ? undefined : rest.shift();
    if (value !== undefined) made.push(value);
  }
  return [...made, ...rest];
}

export const containerPrograms: readonly (readonly [string, Handler])[] = [
  ['docker', runDocker],
  ['podman', runDocker],
  ['docker-compose', runCompose],
  ['tar', runTar],
  ['bsdtar', runTar],
  ['gtar', runTar],
];
