/* The table of machines, made from codegen/sunway/plan/data: python -m codegen.sunway.emulation.figures */
{ /* sw26010-cpe */
  .name = "sw26010",
  .ldm_bytes = 65536, .cache_bytes = 0, .lanes = 4, .clock_hz = 1.45e+09,
  .launch = 20000, .barrier = 300, .mesh_start = 11, .mesh_rate = 32,
  .issue = 20, .startup = 270, .command = 16.8, .row = 27.3, .byte = 0.0718,
  .core_byte = 1.15, .slow = { { 224, 2.1 }, { 448, 1.75 } },
},
{ /* sw26010-pro-cpe */
  .name = "sw26010-pro",
  .ldm_bytes = 262144, .cache_bytes = 32768, .lanes = 8, .clock_hz = 2.25e+09,
  .launch = 30000, .barrier = 300, .mesh_start = 30, .mesh_rate = 64,
  .issue = 20, .startup = 400, .command = 17.4, .row = 28.2, .byte = 0.0743,
  .core_byte = 1.19, .slow = { { 0, 0 } },
},
