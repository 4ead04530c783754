"use strict";

/** The engine: a call is an object, with the bytes of a trace where it needs one. */
class Engine {
  /** From the bytes of the module. */
  static async from(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Engine(instance.exports);
  }

  constructor(exports) {
    this.wasm = exports;
    this.write = new TextEncoder();
    this.read = new TextDecoder();
  }

  /** The value of the answer; an error of the engine is thrown with its text. */
  call(object, data = new Uint8Array()) {
    const text = this.write.encode(JSON.stringify(object));
    const room = this.wasm.flashgc_room(text.length + data.length) >>> 0;
    const memory = new Uint8Array(this.wasm.memory.buffer);
    memory.set(text, room);
    memory.set(data, room + text.length);
    try {
      this.wasm.flashgc_call(text.length);
    } catch (fault) {
      throw new Error(this.answer() || `error: the engine stopped: ${fault.message}`);
    }
    const { ok, error } = JSON.parse(this.answer());
    if (error !== undefined) throw new Error(error);
    return ok;
  }

  answer() {
    const from = this.wasm.flashgc_answer() >>> 0;
    const bytes = this.wasm.flashgc_answer_bytes() >>> 0;
    return this.read.decode(new Uint8Array(this.wasm.memory.buffer, from, bytes));
  }
}
