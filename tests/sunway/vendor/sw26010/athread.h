/* Shape of the management core's header for the SW26010: names, types and which of them are macros. Nothing is behind it. */
#ifndef SHAPE_ATHREAD_H
#define SHAPE_ATHREAD_H

typedef void *(*start_routine)(void *);

#define SLAVE_FUN(f) slave_##f
#define athread_spawn(f, arg) __real_athread_spawn(slave_##f, arg)
#define athread_spawn_group(mask, f, arg) __real_athread_spawn_group(mask, slave_##f, arg)

extern int athread_init(void);
extern int __real_athread_spawn(void *f, void *arg);
extern int __real_athread_spawn_group(unsigned long mask, void *f, void *arg);
extern int athread_join(void);
extern int athread_join_group(unsigned long mask);
extern int athread_halt(void);
extern int athread_get_max_threads(void);
extern int athread_set_num_threads(int count);
extern int athread_get_num_threads(void);

#endif
