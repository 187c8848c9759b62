import { nearestNames } from '@holdfast/core/internal';
import { usageError } from '../terminal/failure.ts';
import { isModelName } from './pulled.ts';

/** A small instruct model that can be pulled by name. */
export interface NamedModel {
  readonly name: string;
  /** The number of parameters, for people. */
  readonly parameters: string;
  readonly license: string;
  /** At a fixed revision, so that the file never changes. */
  readonly url: string;
  readonly bytes: number;
  /** In lower-case hex. */
  readonly sha256: string;
}

// Sources. The publisher's page of each file (the URL below with `blob` in place of `resolve`) states its size and SHA-256. They were
// taken from public GitHub repositories that pin the same file at the same revision: at least four independent ones for each, all in
// agreement (searched by SHA-256, November 2026). Licenses: the same pages.

/** Files published by the models' authors, by size. */
export const namedModels: readonly NamedModel[] = [
  {
    name: 'qwen2.5-0.5b-instruct',
    parameters: '0.5 B',
    license: 'Apache-2.0',
    url: 'https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/9217f5db79a29953eb74d5343926648285ec7e67/qwen2.5-0.5b-instruct-q4_k_m.gguf',
    bytes: 491_400_032,
    sha256: '74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db',
  },
  {
    name: 'qwen3-0.6b',
    parameters: '0.6 B',
    license: 'Apache-2.0',
    url: 'https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/resolve/23749fefcc72300e3a2ad315e1317431b06b590a/Qwen3-0.6B-Q8_0.gguf',
    bytes: 639_446_688,
    sha256: '9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031',
  },
  {
    name: 'smollm2-1.7b-instruct',
    parameters: '1.7 B',
    license: 'Apache-2.0',
    url: 'https://huggingface.co/HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF/resolve/2d4a76a30b4af41ecd395c35725ac11688d4cfe4/smollm2-1.7b-instruct-q4_k_m.gguf',
    bytes: 1_055_609_536,
    sha256: 'decd2598bc2c8ed08c19adc3c8fdd461ee19ed5708679d1c54ef54a5a30d4f33',
  },
  {
    name: 'qwen2.5-1.5b-instruct',
    parameters: '1.5 B',
    license: 'Apache-2.0',
    url: 'https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/91cad51170dc346986eccefdc2dd33a9da36ead9/qwen2.5-1.5b-instruct-q4_k_m.gguf',
    bytes: 1_117_320_736,
    sha256: '6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e',
  },
  {
    name: 'qwen3-4b',
    parameters: '4 B',
    license: 'Apache-2.0',
    url: 'https://huggingface.co/Qwen/Qwen3-4B-GGUF/resolve/a9a60d009fa7ff9606305047c2bf77ac25dbec49/Qwen3-4B-Q4_K_M.gguf',
    bytes: 2_497_280_256,
    sha256: '7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5',
  },
];

export type WantedModel = Pick<NamedModel, 'name' | 'url' | 'sha256'>;

/**
 * Resolves a model name or the URL of a file.
 *
 * @throws HoldfastError `usage.invalid` (`model_unknown`, `url_invalid`, `checksum_missing`, `checksum_invalid`).
 */
export function findWanted(model: string, sha256: string | undefined, models: readonly NamedModel[]): WantedModel {
  if (model.includes('://')) return readAddress(model, sha256);
  const named = models.find(({ name }) => name === model);
  if (named === undefined) {
    const names = models.map(({ name }) => name);
    const [nearest] = nearestNames(model, names);
    const hint = nearest === undefined ? '' : ` Did you mean \`${nearest}\`?`;
    throw usageError(
      'model_unknown',
      `Unknown model \`${model}\`.${hint} Known models: ${names.map((name) => `\`${name}\``).join(', ')}. Pull any other GGUF file with its https URL and \`--sha256\`.`,
    );
  }
  if (sha256 !== undefined) {
    throw usageError('checksum_invalid', `The SHA-256 of \`${model}\` is already known: remove \`--sha256\`.`);
  }
  return named;
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function readAddress(address: string, sha256: string | undefined): WantedModel {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, name = ''] = /([^/]*)\.gguf$/i.exec(url?.pathname ?? '') ?? [];
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.test(url.hostname));
  // The downloader would fetch all parts of a split model, and one SHA-256 cannot verify them.
  const isOne = isModelName(name) && !/-\d{5}-of-\d{5}$/.test(name);
  if (url === undefined || !isSafe || !isOne || url.username !== '' || url.password !== '') {
    throw usageError(
      'url_invalid',
      `Cannot pull \`${address}\`: expected the https URL of a single file that ends in \`NAME.gguf\`.`,
    );
  }
  if (sha256 === undefined) {
    throw usageError(
      'checksum_missing',
      `The SHA-256 of \`${address}\` is unknown: pass it with \`--sha256\`. Hugging Face shows it on the page of the file.`,
    );
  }
  if (!/^[0-9a-f]{64}$/i.test(sha256)) {
    throw usageError('checksum_invalid', `Invalid SHA-256 \`${sha256}\`: expected 64 hexadecimal digits.`);
  }
  return { name, url: url.href, sha256: sha256.toLowerCase() };
}
