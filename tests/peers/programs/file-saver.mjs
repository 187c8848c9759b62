// LangGraph's saver, stored in a file, so that a second process can resume from the last checkpoint.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { MemorySaver } from '@langchain/langgraph';
import { checkpoints } from './desk.mjs';

class FileSaver extends MemorySaver {
  async put(...given) {
    const config = await super.put(...given);
    this.save();
    return config;
  }

  async putWrites(...given) {
    await super.putWrites(...given);
    this.save();
  }

  save() {
    writeFileSync(checkpoints, serialize({ storage: this.storage, writes: this.writes }));
  }
}

export const isResumed = existsSync(checkpoints);
export const checkpointer = new FileSaver();
if (isResumed) Object.assign(checkpointer, deserialize(readFileSync(checkpoints)));
