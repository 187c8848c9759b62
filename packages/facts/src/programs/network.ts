import { type Field, known, show } from '../script/field.ts';
import type { Call, Handler, Result, Runner } from '../script/types.ts';
import { readAddress } from './address.ts';
import { readArguments, readRoles } from './arguments.ts';
import { applyRole } from './roles.ts';

const curlOptions = readRoles(
  'X:text request:text d:text data:text data-ascii:text data-binary:text data-raw:text data-urlencode:text json:text F:text form:text form-string:text T:read upload-file:read ' +
    'H:text header:text o:write output:write output-dir:write K:load config:load u:text user:text A:text user-agent:text e:text referer:text b:text cookie:text c:write cookie-jar:write ' +
    'x:host proxy:host preproxy:host socks5:host E:read cert:read key:read cacert:read capath:read D:write dump-header:write trace:write trace-ascii:write stderr:write netrc-file:read ' +
    'm:text max-time:text connect-timeout:text retry:text retry-delay:text w:text write-out:text r:text range:text C:text url:text resolve:text connect-to:host y:text Y:text z:text ' +
    'limit-rate:text interface:text unix-socket:read aws-sigv4:text oauth2-bearer:text libcurl:write hsts:write etag-save:write etag-compare:read variable:text ciphers:text Q:text',
);
const bodies = /^(?:d|data|data-ascii|data-binary|data-urlencode|json|F|form|H|header|b|cookie|w|write-out)$/;
const sending =
  /^(?:d|data|data-ascii|data-binary|data-raw|data-urlencode|json|F|form|form-string|T|upload-file|u|user|oauth2-bearer|aws-sigv4|b|cookie)$/;

function runCurl(call: Call, runner: Runner): Result {
  const given = readArguments(call.words, curlOptions);
  let sends = false;
  let method: string | undefined;
  const urls = [...given.operands];
  for (const { name, role, value } of given.options) {
    if (sending.test(name)) sends = true;
    if (name === 'X' || name === 'request') method = value?.text.toUpperCase();
    // A variable in a header is sent data.
    if (value?.known === false && role === 'text') sends = true;
    if (name === 'url' && value !== undefined) urls.push(value);
    else if (bodies.test(name) && value !== undefined) readBody(value, { call, runner });
    else if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
    if (/^(?:O|remote-name|remote-name-all|J)$/.test(name))
      for (const url of given.operands) writeName(url, { call, runner });
    if (name === 'n' || name === 'netrc')
      applyRole('read', known(`${runner.home ?? ''}/.netrc`), { call, runner, recursion: undefined, name });
  }
  if (given.unsure) runner.unclear('words', 'cannot tell which options `curl` gets');
  if (method !== undefined && method !== 'GET' && method !== 'HEAD') sends = true;
  for (const url of urls) reach(url, { call, runner, sends, ...(method === undefined ? {} : { method }) });
  return fetchedOutput;
}

const fetchedOutput: Result = { decides: [], output: { given: true, fetched: true } };

interface Network {
  readonly call: Call;
  readonly runner: Runner;
}

/** `@FILE`, and `NAME=@FILE` of a form. */
function readBody(value: Field, { call, runner }: Network): void {
  const [, file] = /^(?:[^=@<]*=)?[@<]([^;]*)/.exec(value.text) ?? [];
  if (file !== undefined) applyRole('read', { ...value, text: file }, { call, runner, recursion: undefined, name: '' });
}

function writeName({ text, known: isKnown }: Field, { call, runner }: Network): void {
  const name = text.split(/[?#]/)[0]?.split('/').at(-1) ?? '';
  applyRole('write', { text: name, known: isKnown, splits: false }, { call, runner, recursion: undefined, name: '' });
}

function reach(
  url: Field,
  { call, runner, sends, method }: Network & { readonly sends: boolean; readonly method?: string },
): void {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(url.text) ? url.text : `http://${url.text}`;
  const address = readAddress(text);
  if (address?.scheme === 'file') {
    applyRole(
      'read',
      { ...url, text: text.replace(/^file:\/\/[^/]*/i, '') },
      { call, runner, recursion: undefined, name: '' },
    );
    return;
  }
  // Everything up to the host name must be known.
  const isHostKnown = url.known || /^[a-z][a-z\d+.-]*:\/\/[^/]+\//i.test(url.text);
  if (!isHostKnown || address === undefined) {
    runner.unclear('words', `cannot tell which host \`${show(call.program)}\` reaches`);
    return;
  }
  runner.facts.host({ ...address, ...(method === undefined ? {} : { method }), sends: sends || !url.known });
}

const wgetOptions = readRoles(
  'O:write output-document:write o:write output-file:write a:write P:write directory-prefix:write i:list input-file:list post-file:read body-file:read post-data:text body-data:text ' +
    'method:text header:text U:text t:text T:text w:text l:text A:text R:text D:text e:code execute:code use-askpass:run load-cookies:read save-cookies:write ca-certificate:read config:load user:text password:text',
);

function runWget(call: Call, runner: Runner): Result {
  const given = readArguments(call.words, wgetOptions);
  let sends = false;
  for (const { name, role, value } of given.options) {
    sends ||=
      /^(?:post-file|body-file|post-data|body-data|method|user|password)$/.test(name) ||
      (value?.known === false && role === 'text');
    if (value !== undefined && value.text !== '-') applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  if (given.unsure) runner.unclear('words', 'cannot tell which options `wget` gets');
  for (const url of given.operands) {
    reach(url, { call, runner, sends });
    const isNamed = given.options.some(({ name }) =>
      /^(?:O|output-document|P|directory-prefix|spider|i|input-file)$/.test(name),
    );
    if (!isNamed) writeName(url, { call, runner });
  }
  return fetchedOutput;
}

/** A program that exchanges data with a host: its input is sent there. */
function talks(options: string, { operand }: { readonly operand: 'first' | 'all' }): Handler {
  const roles = readRoles(options);
  return (call, runner) => {
    const given = readArguments(call.words, roles);
    for (const { role, value, name } of given.options)
      if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
    for (const field of operand === 'first' ? given.operands.slice(0, 1) : given.operands) {
      if (!field.known) runner.unclear('words', `cannot tell what \`${show(call.program)}\` requests`);
      else runner.facts.host({ scheme: call.program, host: field.text.toLowerCase(), sends: call.around.input.given });
    }
    return fetchedOutput;
  };
}

const sshOptions = readRoles(
  'o:text F:load i:read l:text p:text b:text c:text D:text E:write e:text I:load J:host L:text m:text O:text Q:text R:text S:text W:host w:text B:text',
);

function runSsh(call: Call, runner: Runner): Result {
  const given = readArguments(call.words, sshOptions, { stops: true });
  for (const { role, value, name } of given.options) {
    if (
      name === 'o' &&
      (value?.known !== true ||
        /command|permitlocal|include|knownhosts|identityagent|provider|forward/i.test(value.text))
    ) {
      runner.unclear('code', 'an option of `ssh` may run a program');
    } else if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  if (given.unsure) runner.unclear('words', 'cannot tell which options `ssh` gets');
  const [target, ...command] = call.words.slice(given.rest);
  if (target !== undefined) toHost(target, { call, runner });
  if (command.length > 0) runner.unclear('code', 'commands on another machine are not analyzed');
  return fetchedOutput;
}

function toHost(target: Field, { call, runner }: Network): void {
  if (!target.known) runner.unclear('words', `cannot tell which host \`${show(call.program)}\` reaches`);
  else {
    const host = readAddress(target.text)?.host ?? target.text.replace(/^.*@/, '');
    runner.facts.host({ scheme: 'ssh', host: host.toLowerCase(), sends: true });
  }
}

const copyOptions = readRoles(
  'o:text S:run i:read F:load P:text l:text c:text J:host e:run rsh:run rsync-path:run exclude:except include:text filter:text f:text files-from:list exclude-from:read include-from:read ' +
    'password-file:read log-file:write compare-dest:read copy-dest:read link-dest:read backup-dir:write partial-dir:write temp-dir:write T:write write-batch:write read-batch:read chmod:text port:text bwlimit:text',
);

/** `scp` and `rsync`: one side may be another machine. */
function runCopy(call: Call, runner: Runner): Result {
  const given = readArguments(call.words, copyOptions);
  const isRsync = call.program === 'rsync';
  for (const { role, value, name } of given.options) {
    // `-P`, `-c`, `-l` and `-o` take no value in `rsync`.
    if (isRsync && /^[PcloSiFJ]$/.test(name)) continue;
    if (name === 'o') runner.unclear('code', 'an option of `scp` may run a program');
    else if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  if (given.unsure) runner.unclear('words', `cannot tell which options \`${call.program}\` gets`);
  const target = given.operands.at(-1);
  const except = given.options.flatMap(({ role, value }) =>
    role === 'except' && value?.known === true ? [value.text] : [],
  );
  for (const field of given.operands) {
    const isRemote = /^(?:[^/]*:|rsync:\/\/)/.test(field.text);
    if (isRemote) toHost(field, { call, runner });
    else
      applyRole(field === target ? 'write' : 'read', field, {
        call,
        runner,
        recursion: { skips: [], except },
        name: '',
      });
    if (!isRemote && field === target && given.options.some(({ name }) => name.startsWith('del'))) {
      applyRole('delete', field, { call, runner, recursion: { skips: [] }, name: '' });
    }
  }
  return fetchedOutput;
}

export const networkPrograms: readonly (readonly [string, Handler])[] = [
  ['curl', runCurl],
  ['wget', runWget],
  ['ssh', runSsh],
  ['scp', runCopy],
  ['rsync', runCopy],
  ...['nc', 'ncat', 'netcat', 'telnet', 'ftp', 'sftp', 'lftp', 'mail', 'mailx', 'sendmail'].map(
    (name) =>
      [
        name,
        sends(
          talks('U:write unixsock:write e:run c:run exec:run sh-exec:run p:text w:text b:read a:read s:text', {
            operand: 'first',
          }),
        ),
      ] as const,
  ),
  ...['dig', 'nslookup', 'host', 'whois', 'traceroute', 'ping'].map(
    (name) =>
      [name, talks('f:list p:text t:text q:text b:text c:text i:text W:text w:text', { operand: 'all' })] as const,
  ),
];

function sends(handler: Handler): Handler {
  return (call, runner) =>
    handler({ ...call, around: { ...call.around, input: { ...call.around.input, given: true } } }, runner);
}
