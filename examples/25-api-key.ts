// A tool file with an API key: it sees only variables that it declares and the host grants; the log holds no key.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { executeToolCall } from '@holdfast/executor';
import { type GrantEnvironment, loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';

const apiKey = 'wk_17f3c9a25e08';

// The weather service. It knows one key and one city, and quotes the key in an error, as some services do.
const service = createServer(({ headers, url }, response) => {
  const known = headers.authorization === `Bearer ${apiKey}`;
  const city = new URL(url ?? '/', 'http://localhost').searchParams.get('city');
  if (known && city === 'Rome') response.end(JSON.stringify({ city, celsius: 18 }));
  else response.writeHead(known ? 404 : 401).end(`nothing for ${headers.authorization}`);
}).listen(0, '127.0.0.1');
await once(service, 'listening');
// A server that listens on a port has an address of this type.
const { port } = service.address() as AddressInfo;

const session = createSession({ redactor: createRedactor({ key: randomBytes(32), secrets: [apiKey] }) });
const ask = async (city: string, environment?: GrantEnvironment) => {
  const folder = fileURLToPath(new URL('./weather-tools', import.meta.url));
  const { tools, close } = await loadTools(folder, environment === undefined ? {} : { environment });
  try {
    return await executeToolCall({ name: 'current_weather', arguments: { city } }, { tools, session });
  } finally {
    await close();
  }
};

// Nothing is granted: the call fails before the file is imported.
const refused = await ask('Rome');
assert(refused.kind === 'failed');
assert.equal(refused.code, 'tool.environment.missing');
assert.match(refused.text, /is missing the environment variables `WEATHER_API_KEY`, `WEATHER_URL`/);

// The values may come from anywhere, such as a vault. The tool gets only declared variables.
const grant: GrantEnvironment = ({ tool }) =>
  tool === 'current_weather'
    ? { WEATHER_API_KEY: apiKey, WEATHER_URL: `http://127.0.0.1:${port}`, DATABASE_URL: 'of another service' }
    : {};
const answered = await ask('Rome', grant);
assert(answered.kind === 'ok');
assert.deepEqual(answered.value, { city: 'Rome', celsius: 18 });

// The key in the error of the service is a mask in the log.
const missing = await ask('Atlantis', grant);
assert(missing.kind === 'failed');
const log = JSON.stringify([...session.records()]);
assert.match(log, /answers 404: nothing for Bearer \[redacted:/);
assert(!log.includes(apiKey));

await session.close();
service.close();
console.log(`${answered.text} in Rome, and the log does not contain the key`);
