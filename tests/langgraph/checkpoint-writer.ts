// A process that writes checkpoints until it is killed: `node checkpoint-writer.ts STORE PATH THREAD`. It prints the number of each one
// on its own line when it and its write are acknowledged.
import { existsSync, writeSync } from 'node:fs';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { beginSession, jsonlPlace, reopenSession, sqlitePlace } from './checkpoint-logs.ts';
import { HoldfastCheckpointSaver } from './checkpoint-saver.ts';

const [store, path = '', threadId = ''] = process.argv.slice(2);
const place = store === 'jsonl' ? jsonlPlace(path) : sqlitePlace(path, { sessionId: 'checkpoints' });
const saver = new HoldfastCheckpointSaver(existsSync(path) ? reopenSession(place) : beginSession(place));

let config = { configurable: { thread_id: threadId } };
for (let step = 0; ; step += 1) {
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(step),
    channel_values: { step },
    channel_versions: { step },
  };
  const kept = await saver.put(config, checkpoint, { source: 'loop', step, parents: {} }, { step });
  await saver.putWrites(kept, [['done', step]], 'task');
  config = { configurable: { thread_id: threadId, ...kept.configurable } };
  writeSync(1, `${step}\n`);
}
