/* Management-core side of the Athread library, as far as generated programs use it, for the host emulator. */
#ifndef SW_ATHREAD_H
#define SW_ATHREAD_H

typedef void (*start_routine)(void *);

/* sw5cc prefixes every symbol of a slave file; gcc does not, so the name stays as it is. */
#define SLAVE_FUN(f) f

int athread_init(void);
int athread_set_num_threads(int n);
int athread_get_max_threads(void);
int athread_join(void);
int athread_halt(void);
int __real_athread_spawn(void *f, void *arg);
#define athread_spawn(f, arg) (sw_kernel_name(#f), __real_athread_spawn((void *)(f), (void *)(arg)))

void sw_kernel_name(const char *name);

/* What a generated file is for: a machine, and KB of local memory that are a data cache. Without one SW_MACHINE and
 * SW_LDM_CACHE in the environment say so. */
#define SW_EMULATOR 1
void sw_made_for(const char *machine, int cache, const char *file);

/* What the emulator counted since the last athread_init. */
typedef struct {
  long launches, barriers, gets, puts, rows;
  long get_bytes, put_bytes, mesh_messages, mesh_bytes, ldm_peak;
  double cycles, busy_cycles;
} sw_counts;
sw_counts sw_counted(void);

/* For TW_FORM: yes for one in four calls, in no order, so that programs try all forms of a region at any size. */
int sw_any_form(void);

/* Memory that should now have these bytes. Where it has not, the error names the line that wrote there last. */
void sw_expect(const char *name, const void *got, const void *want, long bytes);

#endif
