/** The file with the model's weights, GGUF. */
export const tinyModelUrl: URL = new URL('../model.gguf', import.meta.url);
