export const METADATA = {
  name: 'query_json',
  function: 'queryJson',
  description: 'Query a JSON file: get the value of a key or setting at a path such as server.ports[0].',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      file: { type: 'string', description: 'Path of the JSON file' },
      query: {
        type: 'string',
        default: '',
        maxLength: 1000,
        description: 'Keys and indexes to follow, such as a.b[0].c or a["b c"]; empty for the whole value',
      },
    },
    required: ['file'],
  },
};

const maxLength = 20_000;

export async function queryJson({ file, query = '' }, { filesystem }) {
  let value = parse(file, await filesystem.readText(file));
  let at = '';
  for (const key of steps(query)) {
    const isList = Array.isArray(value);
    if (typeof value !== 'object' || value === null) {
      throw new Error(`\`${at || 'the value'}\` is ${describe(value)}, so it has no \`${key}\`.`);
    }
    const index = isList && key < 0 ? value.length + key : key;
    // Own keys only: the query may come from a model.
    if (isList ? !Number.isInteger(index) || index < 0 || index >= value.length : !Object.hasOwn(value, String(key))) {
      const has = isList ? `indexes 0 to ${value.length - 1}` : `keys ${Object.keys(value).slice(0, 30).join(', ')}`;
      const empty = isList ? value.length === 0 : Object.keys(value).length === 0;
      throw new Error(`\`${at || file}\` has no \`${key}\`: it ${empty ? 'is empty' : `has the ${has}`}.`);
    }
    value = isList ? value[index] : value[String(key)];
    at += typeof key === 'number' ? `[${key}]` : at === '' ? key : `.${key}`;
  }
  const size = JSON.stringify(value).length;
  if (size <= maxLength) return { file, query, type: describe(value), value };
  const contents = Array.isArray(value) ? { length: value.length } : { keys: Object.keys(Object(value)).slice(0, 100) };
  throw new Error(
    `\`${at || file}\` is too large to show (${size} characters): ask for a part of it. ${JSON.stringify(contents).slice(0, 2000)}`,
  );
}

function parse(file, text) {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch ({ message }) {
    throw new Error(`\`${file}\` is not JSON: ${message}`);
  }
}

function steps(query) {
  const text = query.trim().replace(/^\$\.?/, '');
  const found = [];
  const step = /\.?([^.[\]"']+)|\[(-?\d+)\]|\[(?:"([^"]*)"|'([^']*)')\]/y;
  while (step.lastIndex < text.length) {
    const start = step.lastIndex;
    const [, name, index, double, single] = step.exec(text) ?? [];
    const key = name?.trim() ?? double ?? single;
    if (key === undefined && index === undefined) {
      throw new Error(`The query \`${query}\` is invalid at character ${start + 1}: write it like a.b[0].c.`);
    }
    found.push(index === undefined ? key : Number(index));
  }
  return found;
}

function describe(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return { object: 'an object', string: 'a text', number: 'a number', boolean: 'true or false' }[typeof value];
}
