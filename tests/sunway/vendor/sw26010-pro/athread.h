/* Shape of the management core's header for the SW26010-Pro: a launch says whether the cores' caches are written back. */
#ifndef SHAPE_ATHREAD_H
#define SHAPE_ATHREAD_H

typedef void start_routine(void *arg);

#define SLAVE_FUN(f) slave_##f
#define athread_spawn(f, arg) __real_athread_spawn((void *)slave_##f, arg, 1)

int athread_init(void);
int __real_athread_spawn(void *f, void *arg, int flush_slave_dcache);
int athread_join(void);
int athread_halt(void);
int athread_set_num_threads(int num);
int athread_get_num_threads(void);
int athread_get_max_threads(void);

#endif
