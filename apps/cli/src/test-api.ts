import { EventEmitter, once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Model, systemClock } from '@holdfast/core';
import { type ApiOptions, createApi } from './serve-api.ts';

export interface ApiResponse {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON. */
  json(): Record<string, unknown>;
  /** Its server-sent events: JSON, or what else stands there. */
  events(): readonly unknown[];
}

export interface Sending {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** A model served in this process. */
export interface TestApi extends AsyncDisposable {
  readonly port: number;
  /** What was reported, in order. */
  readonly reports: readonly unknown[];
  /** Sends a chat, unless told otherwise. */
  send(sending: Sending): Promise<ApiResponse>;
  /** Sends a chat of one message, with more fields. */
  chat(fields?: object): Promise<ApiResponse>;
  end(): Promise<void>;
}

export async function startApi(model: Model, options: Partial<ApiOptions> = {}): Promise<TestApi> {
  const reports: unknown[] = [];
  const report = (thrown: unknown): void => void reports.push(thrown);
  const api = createApi({ model, name: 'local', key: undefined, clock: systemClock, report, ...options });
  api.server.listen(0, '127.0.0.1');
  await once(api.server, 'listening');
  // It listens on a port.
  const { port } = api.server.address() as AddressInfo;
  const send = (sending: Sending): Promise<ApiResponse> => sendTo(port, sending);
  return {
    port,
    reports,
    send,
    chat: (fields = {}) => send({ body: { messages: [{ role: 'user', content: 'Hello' }], ...fields } }),
    end: () => api.end(),
    [Symbol.asyncDispose]: () => api.end(),
  };
}

function sendTo(port: number, { method = 'POST', path, headers, body }: Sending): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        method,
        host: '127.0.0.1',
        path: path ?? '/v1/chat/completions',
        headers: { 'content-type': 'application/json', ...headers },
        agent: false,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('error', reject);
        response.on('end', () => resolve(toResponse(response.statusCode, response.headers, text)));
      },
    );
    sent.on('error', reject);
    sent.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
  });
}

function toResponse(status: number | undefined, headers: IncomingHttpHeaders, text: string): ApiResponse {
  return {
    status,
    headers,
    text,
    json: () => JSON.parse(text) as Record<string, unknown>,
    events: () =>
      text
        .split('\n\n')
        .filter((part) => part !== '')
        .map((part) => {
          const data = part.replace(/^data: /, '');
          return data.startsWith('{') ? (JSON.parse(data) as unknown) : data;
        }),
  };
}

/** A model that says one word and then nothing more, whether it is told to stop or not. */
export interface SilentModel {
  readonly model: Model;
  /** Of its requests. */
  readonly signals: readonly AbortSignal[];
  /** Resolves when it has been asked so often. */
  asked(count: number): Promise<void>;
}

export function silentModel(): SilentModel {
  const signals: AbortSignal[] = [];
  const events = new EventEmitter();
  const model: Model = {
    id: 'silent',
    async *stream({ signal }) {
      signals.push(signal);
      events.emit('asked');
      yield { type: 'text-delta', text: 'Well' };
      await new Promise(() => undefined);
    },
  };
  return {
    model,
    signals,
    async asked(count) {
      while (signals.length < count) await once(events, 'asked');
    },
  };
}
