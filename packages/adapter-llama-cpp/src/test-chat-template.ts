import { readFile, writeFile } from 'node:fs/promises';

/** A chat template with the packaged model's tokens in another order: tools first, as in most models. */
const template = `<|hf_tools|>
{%- for tool in (tools or []) -%}
{{ '; ' if not loop.first else '' }}{{ tool.function.name }}(
{%- for name, schema in (tool.function.parameters.properties or {}).items() -%}
{{ ',' if not loop.first else '' }}{{ name }}:{{ schema.type or 'string' }}
{%- endfor -%}
) {{ tool.function.description }}
{%- endfor -%}
{%- for message in messages -%}
{%- if message.role == 'user' -%}<|hf_user|>{{ message.content }}{%- endif -%}
{%- if message.role == 'assistant' -%}
{%- if message.content -%}{{ message.content + '<|hf_end|>' }}{%- endif -%}
{%- for call in (message.tool_calls or []) -%}
{{ '<|hf_call|>{"name":"' + call.function.name + '","arguments":' + (call.function.arguments | tojson) + '}<|hf_end|>' }}
{%- endfor -%}
{%- endif -%}
{%- if message.role == 'tool' -%}<|hf_result|>{{ message.content }}{%- endif -%}
{%- endfor -%}`;

/** Copies a GGUF file and adds a chat template: our model has none, and any other would be a download. */
export async function addChatTemplate(from: URL, to: string): Promise<void> {
  const file = await readFile(from);
  const key = Buffer.from('tokenizer.chat_template');
  const head = 8 + key.length + 4 + 8;
  const value = Buffer.from(template);
  // Tensors start at a multiple of 32, so the inserted bytes are padded to one.
  const padded = Buffer.concat([value, Buffer.alloc((32 - ((head + value.length) % 32)) % 32, '\n')]);
  const entry = Buffer.alloc(head);
  entry.writeBigUInt64LE(BigInt(key.length), 0);
  key.copy(entry, 8);
  // Type 8 is a string.
  entry.writeUInt32LE(8, 8 + key.length);
  entry.writeBigUInt64LE(BigInt(padded.length), 12 + key.length);
  const start = Buffer.from(file.subarray(0, 24));
  start.writeBigUInt64LE(start.readBigUInt64LE(16) + 1n, 16);
  await writeFile(to, Buffer.concat([start, entry, padded, file.subarray(24)]));
}
